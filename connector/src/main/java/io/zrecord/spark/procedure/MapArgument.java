package io.zrecord.spark.procedure;

import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** Arguments that are maps from texts to texts. Stateless. */
final class MapArgument {
  static final DataType TYPE =
      DataTypes.createMapType(DataTypes.StringType, DataTypes.StringType, true);

  private MapArgument() {}

  static Map<String, String> of(MapData data) {
    Map<String, String> map = new TreeMap<>();
    for (int i = 0; i < data.numElements(); i++) {
      if (data.valueArray().isNullAt(i)) {
        throw new IllegalArgumentException(
            "The value of '" + data.keyArray().getUTF8String(i) + "' is NULL; give a text");
      }
      map.put(
          data.keyArray().getUTF8String(i).toString(),
          data.valueArray().getUTF8String(i).toString());
    }
    return map;
  }
}
