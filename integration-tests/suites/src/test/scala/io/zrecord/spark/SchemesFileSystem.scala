package io.zrecord.spark

import java.net.URI

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.RawLocalFileSystem

/** Local files under any scheme and host. */
class SchemesFileSystem extends RawLocalFileSystem {
  private var named: Option[URI] = None

  override def initialize(uri: URI, settings: Configuration): Unit = {
    super.initialize(uri, settings)
    named = Some(URI.create(s"${uri.getScheme}://${uri.getAuthority}"))
  }

  /** Is asked for before the constructor ends, too. */
  override def getUri: URI = Option(named).flatten.getOrElse(super.getUri)

  override def getScheme: String = getUri.getScheme
}
