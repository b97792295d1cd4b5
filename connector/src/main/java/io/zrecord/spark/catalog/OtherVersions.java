package io.zrecord.spark.catalog;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.spark.column.ColumnMetadata;
import io.zrecord.spark.column.SparkTypes;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.ReadPaths;
import java.util.List;
import org.apache.spark.sql.types.StructType;

/**
 * Loads other versions of a table than Spark has loaded. Spark knows the columns already, so other
 * versions must have the same columns, of which zrecord and applications say the same. Stateless.
 */
final class OtherVersions {
  private OtherVersions() {}

  /**
   * Returns the versions at a time.
   *
   * @param schema the columns that Spark knows of a table without a version
   * @param versions the versions that Spark knows
   * @param loaded the time of those, for messages
   * @throws SchemaMismatchException if a version has other columns
   */
  static List<DatasetVersion> of(
      ReadPaths paths,
      StructType schema,
      List<DatasetVersion> versions,
      TimeTravel loaded,
      TimeTravel time) {
    List<DatasetVersion> others =
        paths.datasets().stream().map(dataset -> dataset.version(time)).toList();
    for (int i = 0; i < others.size(); i++) {
      StructType found =
          ColumnMetadata.withoutSpark(SparkTypes.structOf(others.get(i).schema()));
      StructType known = ColumnMetadata.withoutSpark(
          versions.isEmpty() ? schema : SparkTypes.structOf(versions.get(i).schema()));
      if (!found.equals(known)) {
        throw new SchemaMismatchException(
            paths.toString(),
            "Cannot read " + time + " of " + paths + " here: its "
                + difference(found, known, "and of " + loaded + " ")
                + "; use spark.read().format(\"" + ZRecordOptions.FORMAT
                + "\").option(…).load(\"" + paths.found().get(i) + "\"), or VERSION AS OF in SQL");
      }
    }
    return others;
  }

  /** Describes columns, and others that differ. */
  private static String difference(StructType columns, StructType others, String ofOthers) {
    if (ColumnMetadata.bare(columns).equals(ColumnMetadata.bare(others))) {
      for (int i = 0; i < columns.length(); i++) {
        String said = columns.apply(i).metadata().json();
        String other = others.apply(i).metadata().json();
        if (!said.equals(other)) {
          return "column '" + columns.apply(i).name() + "' has the metadata " + shortened(said)
              + ", " + ofOthers + shortened(other);
        }
      }
    }
    return "columns are " + columns.catalogString() + ", " + ofOthers + others.catalogString();
  }

  private static String shortened(String text) {
    return text.length() <= 200 ? text : text.substring(0, 200) + "…";
  }
}
