"""A language host: lets the Pulumi engine run Python programs and policy packs.

It stands in where the official `pulumi-language-python` is not installed. It runs programs that exist;
generating programs and SDKs is left to the official one.
"""
