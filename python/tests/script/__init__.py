"""Tests of tilevm.script."""
