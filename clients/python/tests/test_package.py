"""What is promised about the package itself."""

import ast
import os
import typing
import unittest

import bowline
from bowline import protocol

FOLDER = os.path.dirname(bowline.__file__)


class Package(unittest.TestCase):
    def test_every_file_is_python_3_9(self):
        for name in os.listdir(FOLDER):
            if name.endswith(".py"):
                with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                    ast.parse(file.read(), name, feature_version=(3, 9))

    def test_every_shape_resolves(self):
        for name in protocol.__all__:
            shape = getattr(protocol, name)
            if isinstance(shape, type):
                typing.get_type_hints(shape)

    def test_both_clients_have_the_same_commands(self):
        public = lambda kind: {name for name in dir(kind) if not name.startswith("_")}
        self.assertEqual(public(bowline.Client), public(bowline.AsyncClient))


if __name__ == "__main__":
    unittest.main()
