"""`sottovoce`, and `python -m stream`."""

from stream.commands.app import app


def main() -> None:
    """The command line's entry."""
    app()


if __name__ == "__main__":
    main()
