"""chosen.py: runs the tests of the program that calls it which the environment chooses by IDX_TESTS, as the tests in C
do: all of them where it is not there, those that it names after `only`, or the others where it names some after
`without`. A name is CLASS.METHOD."""
import os
import unittest

CHOICE, *NAMED = os.environ.get("IDX_TESTS", "without").split()


class Loader(unittest.TestLoader):
    left = set(NAMED)

    def getTestCaseNames(self, case):
        names = [(f"{case.__name__}.{name}", name) for name in super().getTestCaseNames(case)]
        self.left -= {long for long, _ in names}
        return [name for long, name in names if (long in NAMED) == (CHOICE == "only")]

    def loadTestsFromModule(self, module, **options):
        found = super().loadTestsFromModule(module, **options)
        if self.left:
            raise SystemExit(f"IDX_TESTS names tests that are not there: {' '.join(sorted(self.left))}")
        return found


def main():
    unittest.main(testLoader=Loader())
