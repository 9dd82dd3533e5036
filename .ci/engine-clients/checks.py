"""What the scripts of this folder share: a check that says what it expected, and the weather.

A small model answers them, so nothing here looks at its words. What is checked must hold for any model: what it was forced to
write is well formed and fits its schema, what was streamed is what was accumulated, an answer ends for a reason and tells
its usage.
"""

import sys
import typing

import pydantic

SEED = 7


class Weather(pydantic.BaseModel):
    """The weather in a city, for some days."""

    model_config = pydantic.ConfigDict(extra="forbid", strict=True)
    city: typing.Literal["Paris", "Oslo", "Rome"]
    days: int = pydantic.Field(ge=1, le=9)


schema = Weather.model_json_schema()


class Checks:
    """Counts what is not as it should be."""

    def __init__(self, name):
        self.name, self.failures, self.done = name, 0, 0

    def that(self, what, holds, found=""):
        self.done += 1
        if not holds:
            self.failures += 1
            print(f"{self.name}: {what}: {found!r}")

    def same(self, what, found, want):
        self.that(what, found == want, {"expected": want, "found": found})

    def weather(self, what, arguments):
        """Arguments, as JSON text or as an object, that fit the schema to the letter."""
        try:
            Weather.model_validate_json(arguments) if isinstance(arguments, str) else Weather.model_validate(arguments)
            self.that(what, True)
        except pydantic.ValidationError as error:
            self.that(what, False, (arguments, str(error)))

    def end(self, *versions):
        print(f"{self.name}:", f"{self.failures} of {self.done} checks failed" if self.failures else f"all {self.done} checks hold", "with", *versions)
        sys.exit(self.failures > 0)
