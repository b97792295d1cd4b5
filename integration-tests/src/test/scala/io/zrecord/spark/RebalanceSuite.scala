package io.zrecord.spark

import java.io.File
import java.nio.file.{Files, Path, Paths, StandardCopyOption}
