package io.zrecord.spark.changes;

import io.zrecord.spark.path.TableLocation;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;

/** What one task reads. Immutable. */
record ChangesPartition(TableLocation location, List<ChangePart> parts) implements InputPartition {}
