"""`python -m ontosub`: the command line."""

from ontosub.cli import main

if __name__ == "__main__":
    main()
