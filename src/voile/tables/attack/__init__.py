"""The adversary of the tables wing, who links, singles out and infers, and is scored by truth.

Every attack takes integer codes, not files: the number of the interval that a released value is,
or -1 where it is missing. None of them sees a kit.
"""

from voile.tables.attack.absences import absences, outside
from voile.tables.attack.downcoding import downcoding
from voile.tables.attack.exact import ExactRows
from voile.tables.attack.faces import faces
from voile.tables.attack.inference import SensitiveRecords, inference
from voile.tables.attack.linkage import linkage
from voile.tables.attack.minimality import PromisedRules, SensitivePeople, minimality
from voile.tables.attack.model import HitMiss
from voile.tables.attack.records import IntervalRecords
from voile.tables.attack.singling_out import singling_out

__all__ = [
    "ExactRows",
    "HitMiss",
    "IntervalRecords",
    "PromisedRules",
    "SensitivePeople",
    "SensitiveRecords",
    "absences",
    "downcoding",
    "faces",
    "inference",
    "linkage",
    "minimality",
    "outside",
    "singling_out",
]
