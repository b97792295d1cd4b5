package io.zrecord.spark

import java.time.{Duration, Instant, InstantSource}

import io.zrecord.storage.Storage
import io.zrecord.table.{CareMode, ExpireOptions, RecordTable}

/** Expires versions that are young. */
trait ExpiredVersions { suite: SparkSuite =>

  /** Expires all versions before one that have no tag, as if they were old. */
  protected def expireTo(path: String, version: Long): Unit = {
    val at = classOf[RecordTable].getDeclaredMethod("at", classOf[Storage], classOf[InstantSource])
    at.setAccessible(true)
    val later = InstantSource.fixed(Instant.now().plus(Duration.ofHours(2)))
    val table = at.invoke(null, filesOf(path).storage, later).asInstanceOf[RecordTable]
    table.expire(
      ExpireOptions
        .defaults()
        .withKeepVersions((table.latest().version() - version + 1).toInt)
        .withOlderThan(Duration.ofHours(1))
        .withMode(CareMode.DELETE)
    )
  }
}
