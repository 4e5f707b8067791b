"""A client of the service, on the standard library alone: it starts at once.

The public names stand in ``__init__.pyi`` and are imported when first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
