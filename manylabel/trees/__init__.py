"""Forests for many labels, some of them missing."""

from manylabel.trees._fast_xml import FastXML
from manylabel.trees._pfast_xml import PfastXML

__all__ = ["FastXML", "PfastXML"]
