package io.zrecord.spark

import scala.collection.JavaConverters._

import io.zrecord.RecordDatasetWriter
import io.zrecord.schema.{Compression, ElementType, FieldRules, FieldSpec, Identity, RecordSchema}
import io.zrecord.schema.Shape
import io.zrecord.shard.WriteOptions
import io.zrecord.table.DeclarationChange

/** Makes tables that number their records in a field. */
trait NumberedTables { this: SparkSuite =>
  protected val numberedFields: Seq[FieldSpec] = Seq(
    new FieldSpec(1, "id", ElementType.I64, Shape.scalar(), Compression.RAW)
      .withRules(FieldRules.NONE.withNullable(false)),
    new FieldSpec(2, "text", ElementType.UTF8, Shape.scalar(), Compression.parse("zstd:3")),
    new FieldSpec(3, "label", ElementType.I32, Shape.scalar(), Compression.RAW)
  )

  /** Makes a table without records. */
  protected def numberedTable(identity: Identity): String = {
    val path = freshPath()
    val writer = RecordDatasetWriter.create(
      filesOf(path).storage,
      new RecordSchema(numberedFields.asJava),
      WriteOptions.defaults()
    )
    try writer.commit()
    finally writer.close()
    DeclarationChange.of(tableAt(path).latest()).add(identity).commit()
    path
  }

  protected def identityOf(path: String): Identity =
    tableAt(path).latest().declarations().identity(1).get()
}
