package io.zrecord.spark

import scala.collection.JavaConverters._

import io.zrecord.shard.ShardSummary
import io.zrecord.storage.Storage

/** The files of a table, wherever the table is. Names are relative to the table. */
final class TableFiles(val storage: Storage) {

  /** Returns the names of all files. */
  def names: Set[String] = below("").toSet

  /** Returns the ids of the shards that have files, whether a version names them or not. */
  def shards: Set[String] = below("shard").map(_.takeWhile(_ != '/')).toSet

  private def below(directory: String): Seq[String] =
    storage.listTree(directory).asScala.map(_.name).toSeq

  def bytes(name: String): Array[Byte] = storage.read(name, Int.MaxValue)

  /** Puts other bytes in the place of a file. */
  def change(name: String)(change: Array[Byte] => Array[Byte]): Unit =
    storage.replace(name, change(bytes(name)))

  /** Flips a bit.
    *
    * @param position
    *   from the end if negative
    */
  def flip(name: String, position: Int): Unit = change(name) { bytes =>
    val at = if (position < 0) bytes.length + position else position
    bytes(at) = (bytes(at) ^ 16).toByte
    bytes
  }

  /** Leaves the first half of a file. */
  def cut(name: String): Unit = change(name)(bytes => bytes.take(bytes.length / 2))

  def delete(name: String): Unit = storage.delete(name)

  /** Returns the chunk of a shard that has one. */
  def chunk(shard: ShardSummary): String = {
    assert(shard.chunks().size == 1, shard)
    shard.directory() + "/" + shard.chunks().get(0).fileName()
  }

  /** Returns the tables file of a shard that has one. */
  def tables(shard: ShardSummary): String = {
    assert(shard.tables().size == 1, shard)
    shard.directory() + "/" + shard.tables().get(0).fileName()
  }
}
