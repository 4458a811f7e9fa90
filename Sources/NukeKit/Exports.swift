@_exported public import NukeCore
@_exported public import NukeCurlLoader
@_exported public import NukeDecodersGIF
@_exported public import NukeDecodersHEIF
@_exported public import NukeDecodersJPEG
@_exported public import NukeDecodersPNG
@_exported public import NukeDecodersWebP
@_exported public import NukeDiskCache
