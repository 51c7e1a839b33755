"""Gymnasium environments in which agents repair real Python repositories and write their tests."""
