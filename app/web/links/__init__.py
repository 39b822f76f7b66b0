"""Addresses: which scenario one asks for, short links, absolute addresses and their QR codes."""
