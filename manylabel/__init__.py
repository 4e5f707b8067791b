"""Multi-label learning when labels are many, missing, unequal and arriving.

The public names stand in ``__init__.pyi`` and are imported when first used, so that
``manylabel --help`` does not wait for a compiler.
"""

import lazy_loader

from manylabel._version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
