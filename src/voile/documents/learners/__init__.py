"""Learners of tokens, by their names."""
from voile.documents.learners.crf import CRF, Chain
from voile.documents.learners.svm import *
from voile.documents.learners import svm, adaboost
LEARNERS = {"crf": CRF, "svm": svm.SVM, "adaboost": adaboost.AdaBoost}
CLASSIFIERS = {"chain": Chain}
def check_saveable(x): pass
