package io.zrecord.spark.changes;

import java.util.Locale;

/** What a row tells of a record. The names in lower case are those of Spark. */
enum ChangeType {
  INSERT,
  DELETE,
  UPDATE_PREIMAGE,
  UPDATE_POSTIMAGE;

  String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
