"""Notes from a doctor's visit."""

from training.records.compound import choice, flag, part_of, records, several
from training.records.kind import Field, kind
from training.values import (
    Fact,
    Scene,
    company,
    day,
    decimal,
    doctor,
    from_list,
    from_pool,
    integer,
    main_person,
    text_fact,
)

DOSES = (
    "5 mg, 10 mg, 20 mg, 25 mg, 40 mg, 50 mg, 75 mg, 100 mg, 150 mg, 200 mg, 250 mg, 400 mg, 500 mg, 600 mg, "
    "850 mg, 1 g, 2.5 mg, 0.5 mg, 125 mcg, 50 µg, 5 ml, 10 ml, 100mg, 500mg"
)


def dose(scene: Scene) -> Fact:
    """Return a dose, as the string it is written as."""
    if scene.chance(0.5):
        return from_list(DOSES)(scene)
    return text_fact(f"{scene.rng.randrange(1, 180) * 5}{scene.pick((' mg', 'mg', ' mg', ' mcg', ' ml'))}")


MEDICATIONS = records(
    {
        "name": part_of(from_pool("medicines", capitalised=0.2), "name, drug, medicine, medication, substance"),
        "dose": part_of(dose, "dose, dosage, strength, amount"),
    },
    (
        "{name} {dose}",
        "{name} ({dose})",
        "{dose} of {name}",
        "{name}, {dose}",
        "{dose} {name}",
        "{name} {dose} daily",
        "{name} {dose} twice a day",
        "{name} at a dose of {dose}",
        "{name} – {dose}",
        "{name}: {dose}",
        "{name} {dose} once daily",
        "{name} in a dose of {dose}",
    ),
)

MEDICAL_NOTE = kind(
    "medical_note",
    (
        Field(
            "patient",
            main_person,
            "patient, patient name, name, full name, person",
            "the name of the patient",
            "Patient, Patient name, Name",
            weight=2.6,
        ),
        Field(
            "age",
            integer(18, 96, words=0.1),
            "age, patient age, years, age in years",
            "age in years",
            "Age, Age (years)",
            weight=2.2,
        ),
        Field(
            "born",
            day(-30000, -7000),
            "date of birth, dob, birth date, birthday",
            "date of birth",
            "Date of birth, DOB, Born",
            weight=1,
        ),
        Field(
            "diagnosis",
            from_pool("diagnoses", capitalised=0.15),
            "diagnosis, condition, disease, finding, assessment, problem",
            "what the patient has",
            "Diagnosis, Dx, Assessment, Condition",
            weight=2.6,
        ),
        Field(
            "medications",
            MEDICATIONS,
            "medications, medication, prescriptions, drugs, medicines, treatment, prescribed",
            "what was prescribed",
            "Medications, Medication, Rx, Prescribed",
            none="""
                No medication was prescribed.
                The patient takes no medication.
                No drugs are needed.
                Medications: none
                """,
            weight=2.2,
            plain=False,
        ),
        Field(
            "allergies",
            several(from_pool("allergens"), 1, 3),
            "allergies, known allergies, allergic to, allergens",
            "what the patient is allergic to",
            "Allergies, Known allergies, Allergic to",
            none="""
                No known allergies.
                There are no allergies.
                The patient has no allergies.
                Allergies: none
                """,
            weight=2,
        ),
        Field(
            "visit",
            day(-30, 0),
            "visit date, date, date of visit, seen on, examination date, consultation date",
            "when the patient was seen",
            "Date of visit, Seen on, Visit date",
            weight=1.4,
        ),
        Field(
            "next",
            day(3, 120),
            "follow up date, follow up, next visit, next appointment, review date",
            "when the patient should come again",
            "Follow-up, Next appointment, Next visit",
            weight=1.9,
        ),
        Field(
            "doctor",
            doctor,
            "doctor, physician, doctor name, treating physician, seen by, gp",
            "the doctor",
            "Doctor, Physician, Seen by, GP",
            weight=1.5,
        ),
        Field(
            "hospital",
            company,
            "clinic, hospital, practice, facility, institution",
            "where the patient was seen",
            "Clinic, Hospital, Practice",
            weight=0.7,
        ),
        Field(
            "pressure",
            lambda scene: text_fact(f"{scene.rng.randrange(95, 190)}/{scene.rng.randrange(55, 115)}"),
            "blood pressure, bp, rr",
            "blood pressure",
            "Blood pressure, BP",
            weight=1,
        ),
        Field(
            "pulse",
            integer(48, 130, words=0.0),
            "heart rate, pulse, heart rate bpm, pulse rate",
            "heartbeats in a minute",
            "Pulse, Heart rate",
            weight=0.8,
        ),
        Field(
            "temperature",
            decimal(35.5, 40.5, units=" °C|°C| degrees"),
            "temperature, body temperature, temp",
            "body temperature",
            "Temperature, Temp.",
            weight=0.8,
        ),
        Field(
            "weight",
            integer(42, 140, words=0.0, units=" kg|kg| kilograms"),
            "weight, weight kg, body weight",
            "weight in kilograms",
            "Weight, Body weight",
            weight=0.8,
        ),
        Field(
            "complaint",
            from_list(
                "chest pain, a persistent cough, stomach cramps, dizziness, swollen knees, "
                "shortness of breath, night sweats, blurred vision, an itchy rash, numb fingers, "
                "a sore throat, ringing in the ears, back pain after lifting, loss of appetite, "
                "trouble sleeping, palpitations, burning eyes, a stiff neck, joint pain, nausea, "
                "heartburn, frequent headaches, fatigue, hair loss, weak legs, dry mouth, cold hands, "
                "muscle cramps"
            ),
            "complaint, symptom, chief complaint, reason for visit, presenting complaint",
            "what the patient complains of",
            "Complaint, Chief complaint, Reason for visit, Symptoms",
            weight=1.2,
        ),
        Field(
            "smoker",
            flag(),
            "smoker, is smoker, smokes, smoking",
            "whether the patient smokes",
            "Smoker, Smoking",
            wordings={
                "true": """
                    {They} smokes.
                    {They} is a smoker.
                    {They} smokes a pack a day.
                    {They} has not managed to stop smoking.
                    Smoking: a few cigarettes daily.
                    The patient smokes.
                    """,
                "false": """
                    {They} does not smoke.
                    {They} is a non-smoker.
                    {They} has never smoked.
                    {They} stopped smoking years ago and stays away from it.
                    Non-smoker.
                    The patient does not smoke.
                    """,
            },
            plain=False,
            weight=1,
        ),
        Field(
            "sex",
            choice({"female": "female", "male": "male"}),
            "sex, gender",
            "sex of the patient",
            "Sex, Gender",
            plain=False,
            may_miss=False,
            weight=0.5,
        ),
    ),
    plural="patients, visits, cases, notes",
    nests={
        "patient info, patient details, person info": "patient, age, born, sex",
        "vitals, vital signs, measurements": "pressure, pulse, temperature, weight",
    },
    titles=(
        "Consultation note, Discharge summary, Patient record, Medical note, Visit summary, Clinic letter, "
        "Progress note"
    ),
    sentences="""
    The patient is {patient}.
    {patient} came to see us.
    I saw {patient} today.
    Patient: {patient}
    {patient} presented at our practice.
    Thank you for referring {patient}.
    This letter is about {patient}.
    {patient} was examined.
    Name of the patient: {patient}.
    Re: {patient}
    We examined {patient}.
    {patient} attended the clinic.
    {They} is {age} years old.
    The patient is {age}.
    The patient is {age} years old.
    {They} is {age}.
    Age {age}.
    The {age}-year-old patient feels well otherwise.
    A {age}-year-old came in on foot.
    At {age}, {they} lives alone.
    Patient's age: {age}.
    {They} is aged {age}.
    The patient is a {age}-year-old.
    {age} years of age.
    {They} was born on {born}.
    Date of birth: {born}.
    DOB {born}.
    Born {born}.
    The patient was born on {born}.
    The birth date is {born}.
    The diagnosis is {diagnosis}.
    {They} suffers from {diagnosis}.
    {They} was diagnosed with {diagnosis}.
    Diagnosis: {diagnosis}
    The findings point to {diagnosis}.
    The examination showed {diagnosis}.
    Assessment: {diagnosis}.
    This is a case of {diagnosis}.
    We found {diagnosis}.
    The tests confirmed {diagnosis}.
    {They} has {diagnosis}.
    I am treating {them} for {diagnosis}.
    I prescribed {medications}.
    {They} takes {medications}.
    Medication: {medications}.
    {They} was started on {medications}.
    Treatment: {medications}.
    {They} should take {medications}.
    Prescribed: {medications}.
    We gave {them} {medications}.
    Current medication is {medications}.
    {They} left with a prescription for {medications}.
    {They} is allergic to {allergies}.
    Allergies: {allergies}.
    Known allergies are {allergies}.
    There is an allergy to {allergies}.
    {They} cannot tolerate {allergies}, being allergic.
    The patient reports being allergic to {allergies}.
    Please note the allergy to {allergies}.
    The patient is allergic to {allergies}.
    {They} was seen on {visit}.
    Date of visit: {visit}.
    The visit was on {visit}.
    The examination took place on {visit}.
    {They} came in on {visit}.
    Seen {visit}.
    {They} should come back on {next}.
    The next appointment is on {next}.
    Follow-up on {next}.
    We will see {them} again on {next}.
    Review on {next}.
    A follow-up visit is planned for {next}.
    Please return on {next}.
    Next visit: {next}.
    {They} was seen by {doctor}.
    The doctor is {doctor}.
    {doctor} examined {them}.
    Physician: {doctor}.
    {doctor} is in charge.
    {They} is a patient of {doctor}.
    The treating physician is {doctor}.
    {doctor} saw {them}.
    The examination was done at {hospital}.
    {They} was treated at {hospital}.
    Hospital: {hospital}.
    {They} was admitted to {hospital}.
    Clinic: {hospital}.
    {hospital} looked after {them}.
    Blood pressure was {pressure}.
    BP {pressure}.
    The blood pressure is {pressure}.
    We measured a blood pressure of {pressure}.
    Blood pressure {pressure} mmHg.
    {Their} blood pressure: {pressure}.
    The pulse was {pulse}.
    Heart rate {pulse} bpm.
    The heart beats {pulse} times a minute.
    Pulse: {pulse}.
    {Their} heart rate was {pulse}.
    HR {pulse}/min.
    The temperature was {temperature}.
    Temperature {temperature}.
    {They} had a temperature of {temperature}.
    Body temperature: {temperature}.
    The thermometer showed {temperature}.
    Temp. {temperature}.
    {They} weighs {weight}.
    Weight {weight}.
    The weight is {weight}.
    Body weight: {weight}.
    The scales showed {weight}.
    At {weight}, {their} weight is stable.
    {They} complains of {complaint}.
    The reason for the visit was {complaint}.
    {They} came because of {complaint}.
    {They} reports {complaint}.
    Chief complaint: {complaint}.
    {They} mentioned {complaint}.
    {They} has been troubled by {complaint} for days.
    Sex: {sex}.
    The patient is {sex}.
    Gender: {sex}.
    One {sex} patient.
    A {sex} patient.
    The sex is {sex}.
    {patient} is {age} years old.
    {patient}, {age}, came in with {complaint}.
    {patient}, {age} years old, was diagnosed with {diagnosis}.
    {patient}, {age}, suffers from {diagnosis}.
    {patient} ({age}) was seen on {visit}.
    {patient} ({age}), {diagnosis}
    {patient} ({sex}, {age})
    {patient}, DOB {born}
    {patient}\\nDOB: {born}\\nSeen: {visit}
    Patient: {patient}, {age}\\nDx: {diagnosis}
    Dx: {diagnosis}\\nRx: {medications}
    Patient {patient}, age {age}, presented with {complaint} on {visit}.
    {patient} is a {age}-year-old patient with {complaint}.
    Mr/Ms {patient}, aged {age}, was seen at {hospital} on {visit}.
    {patient} presented with {complaint} and was diagnosed with {diagnosis}.
    I examined {patient} ({age} years) on {visit} and found {diagnosis}.
    {They} was diagnosed with {diagnosis} and started on {medications}.
    {They} was prescribed {medications}, with a follow-up on {next}.
    I prescribed {medications} and will see {them} again on {next}.
    {patient} (born {born}) was diagnosed with {diagnosis}.
    {patient}, born {born}, was seen by {doctor}.
    {patient} is a {age}-year-old {sex} with {diagnosis}.
    {patient} is allergic to {allergies} and takes {medications}.
    {patient} has {diagnosis} and takes {medications}.
    {patient} was seen on {visit} by {doctor}.
    {patient} was seen on {visit} because of {complaint}.
    {doctor} saw {patient} on {visit}.
    {doctor} diagnosed {patient} with {diagnosis}.
    {doctor} at {hospital} prescribed {medications}.
    {doctor} diagnosed {diagnosis} and prescribed {medications}.
    {doctor} of {hospital} examined {patient}.
    Seen on {visit}, follow-up on {next}.
    Diagnosis is {diagnosis}, treated with {medications}.
    For {diagnosis} {they} takes {medications}.
    {They} complains of {complaint}; diagnosis: {diagnosis}.
    {They} is allergic to {allergies}; prescribed {medications} instead.
    {They} is {age} years old and complains of {complaint}.
    A {age}-year-old with {complaint}.
    BP {pressure}, pulse {pulse}.
    BP {pressure}, HR {pulse}, temp {temperature}.
    Pulse {pulse}, temperature {temperature}, weight {weight}.
    Blood pressure was {pressure} with a heart rate of {pulse}.
    {They} will be seen again on {next} by {doctor}.
    Started {medications}, follow-up {next}.
    Next visit on {next} at {hospital}.
    A {age}-year-old {sex} patient.
    """,
    asides="""
    The nurse, {any_person}, took the blood sample.
    The last check was on {any_date}.
    {Their} sister {any_person} came along.
    The laboratory report has the number {any_code}.
    {They} waited {any_int} minutes.
    Lungs are clear.
    No fever in the past days.
    {They} drinks enough water and walks daily.
    The insurance is {any_company}.
    In an emergency call {any_phone}.
    The heart sounds normal.
    {They} travelled to {any_city} recently.
    """,
)
