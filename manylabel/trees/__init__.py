"""Forests for many labels, some of them missing."""

from manylabel.trees._fast_xml import FastXML
from manylabel.trees._pfast_xml import PfastXML
from manylabel.trees._pfastre_xml import PfastreXML

__all__ = ["FastXML", "PfastXML", "PfastreXML"]
