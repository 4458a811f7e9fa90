internal import NukeCLI

Nuke.main()
