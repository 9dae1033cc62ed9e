"""Dates and times of day, as an answer gives them and as people write them."""

from datetime import date, timedelta

from training.date_styles import DATE_STYLES
from training.quantities import number_to_words
from training.scene import STRING, Fact, Maker, Scene, Schema


def drawn_date(scene: Scene, earliest: int, latest: int) -> tuple[date, str]:
    """Return a day so many days from the scene's own, and its spelling."""
    day, styles = scene.today + timedelta(days=scene.rng.randint(earliest, latest)), DATE_STYLES[scene.split]
    style = scene.date_style if scene.chance(0.85) else scene.rng.randrange(len(styles))
    return day, styles[style](day)


def day(earliest: int, latest: int) -> Maker:
    """Return a maker of dates so many days from the scene's own."""

    def make(scene: Scene) -> Fact:
        drawn, text = drawn_date(scene, earliest, latest)
        others = ((STRING, text, "as written"), (STRING, drawn.isoformat(), "as YYYY-MM-DD"))
        return Fact(text, drawn.isoformat(), {"format": "date", "type": "string"}, "date", others)

    return make


def clock(scene: Scene, hour: int, minute: int) -> str:
    """Return a time of day: "14:30", "2.30pm", "21h", "half past nine in the morning"."""
    roll = scene.rng.random()
    if roll < 0.5:
        return f"{hour:02}:{minute:02}"
    if roll < 0.6:
        return f"{hour}.{minute:02}" if minute or scene.chance(0.5) else f"{hour:02}:00 h"
    if roll < 0.65:
        return f"{hour}h{minute:02}" if minute else f"{hour}h"
    shown = (hour - 1) % 12 + 1
    if roll < 0.7 and minute % 15 == 0 and hour != 12:
        day = "in the morning" if hour < 12 else "in the afternoon" if hour < 18 else "in the evening"
        words = {0: "{} o'clock", 15: "quarter past {}", 30: "half past {}", 45: "quarter to {}"}[minute]
        if hour != 11 or minute != 45:
            named = shown % 12 + 1 if minute == 45 else shown
            return f"{words.format(number_to_words(named) if scene.chance(0.6) else named)} {day}"
    half = scene.pick((" pm", "pm", " PM", " p.m.", "PM"))
    if hour < 12:
        half = half.replace("p", "a").replace("P", "A")
    mark = scene.pick(":::.")
    return f"{shown}{half}" if minute == 0 and scene.chance(0.4) else f"{shown}{mark}{minute:02}{half}"


def moment(earliest: int, latest: int) -> Maker:
    """Return a maker of dates with a time of day."""

    def make(scene: Scene) -> Fact:
        drawn, text = drawn_date(scene, earliest, latest)
        hour, minute = scene.rng.randint(6, 22), scene.rng.randrange(0, 60, 5)
        time = clock(scene, hour, minute)
        spelled = scene.pick(
            (f"{text} at {time}", f"{text}, {time}", f"{text} {time}", f"{text} ({time})", f"{time} on {text}")
        )
        if text == drawn.isoformat() and scene.chance(0.4):
            spelled = f"{text}{scene.pick('T ')}{hour:02}:{minute:02}{scene.pick(('', ':00'))}"
        value = f"{drawn.isoformat()}T{hour:02}:{minute:02}:00"
        return Fact(spelled, value, {"format": "date-time", "type": "string"}, "date")

    return make


def time_of_day(scene: Scene) -> Fact:
    """Return a time of day, as the string it is written as or by the clock of 24 hours."""
    hour, minute = scene.rng.randint(5, 22), scene.rng.randrange(0, 60, 5)
    text, normal = clock(scene, hour, minute), f"{hour:02}:{minute:02}"
    exact: Schema = {"format": "time", "type": "string"}
    others = ((STRING, normal, "as HH:MM, 24 hours"), (exact, f"{normal}:00", ""), (exact, f"{normal}:00", ""))
    return Fact(text, text, STRING, "time", others)
