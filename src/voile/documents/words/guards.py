"""Words that look like names but are not names in their context: labels, degrees, eponyms, units.

The lists are closed sets of the language of notes:

- degrees and licences of clinicians, as US and UK registers abbreviate them;
- the eponyms in the index of Stedman's and Dorland's dictionaries that are commonest in discharge
  notes;
- units of UCUM;
- abbreviations of vital signs and laboratory panels.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LABELS = _words(
    """
    name patient mrn dob ssn tel phone fax email mail address sex gender age race date
    admitted admission discharge discharged service attending physician surgeon referring
    provider pcp signed signature dictated transcribed employer occupation profession
    religion ethnicity insurance policy account acct unit room bed ward department diagnosis
    allergies medications history assessment plan impression findings procedure indication
    technique specimen vitals temp temperature pulse weight height contact kin relationship
    guardian spouse npi dea id record chart encounter visit note subject to from cc re attn
    nombre apellidos paciente nhc nass cipa domicilio localidad fecha edad sexo servicio
    medico informe telefono correo remitido"""
)
"""Field labels, which are guarded before a colon."""
DEGREES = _words(
    """
    MD PhD DPhil DMD DDS DVM RN LPN NP APRN CRNA FNP PharmD RPh DPT OTR LCSW LMFT PsyD MPH
    MSN BSN MBBS MBChB FRCS FRCP MRCP FACS FACP FACC FAAP DNP EMT CNM"""
)
EPONYMS = _words(
    """
    addison addisons cushing cushings graves behcet behçet wilson wilsons huntington
    huntingtons tourette bell bells meniere ménière paget pagets kawasaki lyme marfan turner
    klinefelter ehlers danlos guillain barre barré wernicke wegener wegeners goodpasture
    still takayasu charcot marie tooth willebrand ewing wilms hoffman hoffmann lachman
    mcmurray weber rinne swan ganz hickman jackson pratt penrose kocher whipple roux
    hartmann bishop braden norton wells child pugh framingham breslow clark duke dukes
    lehane kellgren lawrence mallory weiss osler janeway bouchard murphy cullen grey bence
    jones auer reed sternberg wright boston glasgow down downs dupuytren peyronie korsakoff"""
)
"""Eponyms, compared in lower case, which are guarded before a word of `AFTER_EPONYM`."""
BARE_EPONYMS = _words(
    """
    parkinson parkinsons crohn crohns hodgkin hodgkins alzheimer alzheimers kaposi hashimoto
    raynaud raynauds sjogren sjögren barrett barretts burkitt gleason apgar romberg babinski
    kernig brudzinski lasegue phalen tinel finkelstein trendelenburg valsalva foley groshong
    broviac hemovac billroth nissen karnofsky mallampati cormack schatzki zenker heberden
    mcburney rovsing coombs papanicolaou gram ziehl neelsen giemsa doppler holter achilles
    eustachian fallopian"""
)
"""Eponyms that are also guarded alone, if neither a title nor another name is next to them."""
AFTER_EPONYM = _words(
    """
    disease syndrome lymphoma sarcoma dementia palsy sign test score scale scoring catheter
    drain tube line procedure operation repair maneuver manoeuvre position criteria
    classification grade stage thyroiditis contracture phenomenon esophagus oesophagus tumor
    tumour cells bodies nodes stain smear fracture deformity chorea ataxia encephalopathy
    granulomatosis arteritis purpura factor protein monitor class index coma negative
    positive agar trial study esophagitis ulcer hernia reflex gait tremor chart technique
    anastomosis pouch"""
)
BEFORE_EPONYM = _words(
    """
    síndrome sindrome signo técnica tecnica escala maniobra clasificación clasificacion criterios
    índice indice tinción tincion método metodo ley"""
)
"""Words of Spanish notes before an eponym, with a word in lower case between them."""
CLINICAL = _words(
    """
    BP HR RR SpO2 SPO2 O2 BMI CBC CMP BMP LFT LFTs TSH INR PTT WBC RBC HGB Hgb HCT Hct PLT
    BUN Cr Na CO2 Ca Mg AST ALT ALP GGT LDH CRP ESR BNP HbA1c A1c EKG ECG EEG EMG MRI CXR
    PET COPD CHF CAD CKD ESRD DM HTN HLD GERD UTI URI DVT CVA TIA AFib AF BPH OSA PTSD ADHD
    HIV HCV HBV TB MRSA ICU ED ER NICU PACU PRN BID TID QID QHS PO IM SC SQ NPO NKDA NAD WNL
    ROS HPI PMH PSH A&O CN LUQ RUQ LLQ RLQ"""
)
DRUGS = _words(
    """
    aspirin tylenol advil motrin lipitor zocor crestor norvasc lasix coumadin plavix eliquis
    xarelto metformin lantus humalog novolog januvia synthroid prednisone albuterol ventolin
    advair spiriva singulair prilosec nexium protonix zantac pepcid zoloft prozac lexapro
    celexa paxil effexor cymbalta wellbutrin ativan xanax valium klonopin ambien seroquel
    zyprexa risperdal haldol lithium depakote keppra dilantin neurontin lyrica tegretol
    percocet vicodin oxycontin norco dilaudid fentanyl ultram bactrim cipro levaquin
    augmentin keflex zithromax rocephin vancomycin zosyn flagyl"""
)
UNITS = _words(
    """
    mg mcg kg ml dl mmhg bpm cm mm lb lbs oz meq mmol units iu % ° hpf cc kcal mg/dl"""
)
MEASURES = _words(
    """
    BP HR RR Temp T P Pulse SpO2 SPO2 O2 Wt Ht BMI FiO2 MAP CVP Apgar Gleason GCS ECOG NYHA
    ASA EF PSA INR"""
)
"""Names of measurements, which come before a number."""
TITLES = _words(
    """
    dr mr mrs ms miss prof professor doctor sir dra sr sra"""
)
GUARDED, LABEL, EPONYM, BARE, AFTER, UNIT, MEASURE, TITLE, HEAD = (1 << n for n in range(9))


def guard_of(form: str) -> int:
    """Return the lists that contain a form, one bit for each list."""
    small, found = form.lower(), 0
    lists = (
        (form in DEGREES or form in CLINICAL or small in DRUGS, GUARDED),
        (small in LABELS, LABEL),
        (small in EPONYMS and not form.islower(), EPONYM),
        (small in BARE_EPONYMS and not form.islower(), BARE),
        (small in AFTER_EPONYM, AFTER),
        (small in UNITS, UNIT),
        (form in MEASURES, MEASURE),
        (small in TITLES, TITLE),
        (small in BEFORE_EPONYM, HEAD),
    )
    for holds, bit in lists:
        found |= bit * holds
    return found
