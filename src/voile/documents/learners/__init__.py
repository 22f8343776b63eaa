"""Learners of tokens, by their names."""

from voile.documents.learners import adaboost, svm
from voile.documents.learners.crf import CRF, Chain
from voile.documents.learners.linear import Linear

LEARNERS = {"crf": CRF, "svm": svm.SVM, "adaboost": adaboost.AdaBoost}
CLASSIFIERS = {"chain": Chain, "linear": Linear}


def check_saveable(x):
    pass
