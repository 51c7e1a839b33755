"""The one error of the catalogue."""


class CatalogError(ValueError):
    """A name that is not in the catalogue, or a file of it that is wrong; the text says which."""
