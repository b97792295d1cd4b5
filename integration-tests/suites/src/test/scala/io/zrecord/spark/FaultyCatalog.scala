package io.zrecord.spark

import java.lang.reflect.{InvocationHandler, InvocationTargetException, Method, Proxy}
import java.nio.file.Paths
import java.util.Optional
import java.util.concurrent.ConcurrentHashMap

import io.zrecord.schema.Declarations
import io.zrecord.spark.catalog.ZRecordTable
import io.zrecord.spark.column.SparkTypes
import io.zrecord.spark.partition.PartitionColumns
import io.zrecord.spark.path.{DatasetVersion, ReadPaths}
import io.zrecord.spark.write.WriteTarget
import io.zrecord.storage.Storage
import io.zrecord.storage.local.LocalStorage
import io.zrecord.table.RecordTable
import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableCatalog, TableChange}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** A catalog whose tables are the connector's own, committed on a storage with faults. */
class FaultyCatalog extends TableCatalog {
  private var catalogName = ""

  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit =
    catalogName = name

  override def name(): String = catalogName

  override def loadTable(identifier: Identifier): Table = {
    val table = RecordTable.at(FaultyCatalog.storages.get(identifier.name()))
    val newest = table.latest()
    ZRecordTable.lenient(
      ReadPaths.literal(identifier.name()),
      SparkTypes.structOf(newest.schema()),
      new WriteTarget(
        table,
        Optional.empty(),
        Optional.of(DatasetVersion.of(newest)),
        WriteTarget.Creation.APPEND,
        Declarations.NONE,
        PartitionColumns.NONE
      )
    )
  }

  override def listTables(namespace: Array[String]): Array[Identifier] = Array.empty

  override def createTable(
      identifier: Identifier,
      schema: StructType,
      partitions: Array[Transform],
      properties: java.util.Map[String, String]
  ): Table = throw new UnsupportedOperationException

  override def alterTable(identifier: Identifier, changes: TableChange*): Table =
    throw new UnsupportedOperationException

  override def dropTable(identifier: Identifier): Boolean = false

  override def renameTable(from: Identifier, to: Identifier): Unit =
    throw new UnsupportedOperationException
}

object FaultyCatalog {

  /** The behaviour of a storage instead of a call: takes the name, the first argument, and the real
    * call.
    */
  type Fault = (String, Option[Any], () => AnyRef) => AnyRef

  private val storages = new ConcurrentHashMap[String, Storage]()

  /** Returns a table at a path, named so that a write to it meets the faults. */
  def table(path: String)(fault: Fault): String = {
    val local = LocalStorage.at(Paths.get(path))
    def call(method: Method, arguments: Array[AnyRef]): AnyRef =
      try method.invoke(local, arguments: _*)
      catch { case e: InvocationTargetException => throw e.getCause }
    val storage = Proxy.newProxyInstance(
      getClass.getClassLoader,
      Array(classOf[Storage]),
      new InvocationHandler {
        override def invoke(proxy: AnyRef, method: Method, arguments: Array[AnyRef]): AnyRef = {
          val all = Option(arguments).getOrElse(Array.empty[AnyRef])
          fault(method.getName, all.headOption, () => call(method, all))
        }
      }
    )
    storages.put(path, storage.asInstanceOf[Storage])
    s"faulty.`$path`"
  }
}
