from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from voile.core.mistakes import MOST, mistakes


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid")

    role: Literal["quasi", "sensitive"] = "quasi"
    k: int = Field(1, ge=1)
    share: float = Field(0.0, lt=1)


def said(**given: object) -> str:
    with pytest.raises(ValidationError) as error:
        Model.model_validate(given)
    return mistakes(error.value)


def test_a_near_miss_of_a_word_suggests_the_word():
    near = "role: must be 'quasi' or 'sensitive'; did you mean quasi?"
    assert {said(role=one) for one in ("quais", "Quasi", "quasi-identifier")} == {near}
    assert said(role="x") == "role: must be 'quasi' or 'sensitive'"


def test_every_mistake_is_said_in_plain_words_and_without_its_value():
    found = said(k=-4711, share=4711.5, CANARY="CANARY value")
    assert found == "k: must be 1 or more; share: must be less than 1; CANARY: is not known here"


def test_long_places_are_cut_and_many_mistakes_are_counted():
    found = said(**{f"{n}{'x' * 500}": 1 for n in range(MOST + 3)})
    assert found.endswith("; 3 more")
    assert len(found) < MOST * 250
