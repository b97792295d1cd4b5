package io.zrecord.spark.path;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.zrecord.spark.options.OptionValue;
import io.zrecord.spark.options.ViewName;
import io.zrecord.spark.options.ZRecordOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes the paths of datasets as identifiers of a catalog, and reads them back. A path is an
 * identifier without a namespace. Stateless.
 */
public final class PathIdentifiers {
  /** Namespace of an identifier whose name is a JSON array of paths. */
  private static final String SEVERAL = "paths";

  /** First part of the namespace of a view's identifier. The view's name is the second part. */
  private static final String VIEW = "view";

  private static final ObjectMapper JSON = new ObjectMapper();

  private PathIdentifiers() {}

  /**
   * Returns the identifier for the options of a read or write.
   *
   * @throws IllegalArgumentException if no path is given, or a view of several datasets
   */
  public static Identifier identifier(CaseInsensitiveStringMap options) {
    String several = options.get(ZRecordOptions.PATHS);
    String one = options.get(ZRecordOptions.PATH);
    String view = options.get(ZRecordOptions.VIEW);
    if (several != null && parse(several).length > 0) {
      List<String> all = new ArrayList<>(List.of(parse(several)));
      if (one != null) {
        all.add(0, one);
      }
      if (all.size() == 1) {
        return identifier(all.get(0), view);
      }
      if (view != null) {
        throw new IllegalArgumentException("Cannot read the view " + view + " of " + all.size()
            + " datasets; load one path at a time");
      }
      return Identifier.of(new String[] {SEVERAL}, write(all));
    }
    if (one == null || one.isBlank()) {
      throw new IllegalArgumentException(
          "No path is given; use load(\"/path\") or save(\"/path\")");
    }
    return identifier(one, view);
  }

  private static Identifier identifier(String path, @Nullable String view) {
    return view == null
        ? Identifier.of(new String[0], path)
        : Identifier.of(
            new String[] {
              VIEW, OptionValue.parse(ZRecordOptions.VIEW, view, ViewName::of).toString()
            },
            path);
  }

  /** Returns the view that an identifier asks for, if any. */
  public static Optional<ViewName> view(Identifier identifier) {
    return identifier.namespace().length == 2 && identifier.namespace()[0].equals(VIEW)
        ? Optional.of(ViewName.of(identifier.namespace()[1]))
        : Optional.empty();
  }

  /** Returns the paths that an identifier names. */
  public static List<String> paths(Identifier identifier) {
    boolean isSeveral =
        identifier.namespace().length == 1 && identifier.namespace()[0].equals(SEVERAL);
    return isSeveral ? List.of(parse(identifier.name())) : List.of(identifier.name());
  }

  /** Tells whether an identifier is a path, rather than the name of a table. */
  public static boolean isPath(Identifier identifier) {
    return identifier.namespace().length == 0 && identifier.name().indexOf('/') >= 0;
  }

  /**
   * Refuses a path among the options of a read or write of a table that the statement itself names.
   *
   * @param named the paths of the table
   * @throws IllegalArgumentException if the options name another dataset
   */
  public static void refuseOthers(List<String> named, CaseInsensitiveStringMap options) {
    String several = options.get(ZRecordOptions.PATHS);
    String one = options.get(ZRecordOptions.PATH);
    List<String> asked = new ArrayList<>();
    if (one != null) {
      asked.add(one);
    }
    if (several != null) {
      asked.addAll(List.of(parse(several)));
    }
    if (!asked.isEmpty() && !locations(asked).equals(locations(named))) {
      throw new IllegalArgumentException("The option "
          + (several == null ? ZRecordOptions.PATH : ZRecordOptions.PATHS) + " names "
          + String.join(", ", asked) + ", but the statement names " + String.join(", ", named)
          + "; leave the option out, or use load(path) or save(path)");
    }
  }

  private static List<String> locations(List<String> paths) {
    return paths.stream().map(SparkStorages::normalized).toList();
  }

  private static String[] parse(String json) {
    String[] paths = null;
    Exception cause = null;
    try {
      paths = JSON.readValue(json, String[].class);
    } catch (JsonProcessingException e) {
      cause = e;
    }
    if (paths == null || Arrays.asList(paths).contains(null)) {
      throw new IllegalArgumentException(
          "Option " + ZRecordOptions.PATHS + " is not a JSON array of paths: " + json, cause);
    }
    return paths;
  }

  private static String write(List<String> paths) {
    try {
      return JSON.writeValueAsString(paths);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("Cannot write the paths " + paths + " as JSON", e);
    }
  }
}
