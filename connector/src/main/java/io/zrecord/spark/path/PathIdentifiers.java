package io.zrecord.spark.path;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.zrecord.spark.options.ChangesConf;
import io.zrecord.spark.options.OptionValue;
import io.zrecord.spark.options.ReadConf;
import io.zrecord.spark.options.StorageSettings;
import io.zrecord.spark.options.ViewName;
import io.zrecord.spark.options.ZRecordOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes the paths of datasets as identifiers of a catalog, and reads them back. A path is an
 * identifier without a namespace; a namespace says more about paths. Stateless.
 */
public final class PathIdentifiers {
  /** Part of the namespace of an identifier whose name is a JSON array of paths. */
  private static final String SEVERAL = "paths";

  /** Part of a namespace before the name of a view. */
  private static final String VIEW = "view";

  /** Part of a namespace before the JSON of options that say which changes are read. */
  private static final String CHANGES = "changes";

  /**
   * Part of a namespace before the same, if only defaults of the session say so: they are for
   * reads, and a source is asked for the identifier of a write as well.
   */
  private static final String DEFAULT_CHANGES = "changes by default";

  /** Part of a namespace if the options say that the paths may be patterns. */
  private static final String PATTERN = "pattern";

  /** Part of a namespace if the options say that the paths are no patterns. */
  private static final String LITERAL = "literal";

  /** Part of a namespace before the token of settings. */
  private static final String SETTINGS = "settings";

  private static final ObjectMapper JSON = new ObjectMapper();

  private PathIdentifiers() {}

  /**
   * Returns the identifier for the options of a read or write.
   *
   * @throws IllegalArgumentException if no path is given, or a view or changes of several datasets
   */
  public static Identifier identifier(CaseInsensitiveStringMap options) {
    String several = options.get(ZRecordOptions.PATHS);
    String one = options.get(ZRecordOptions.PATH);
    boolean isOfChanges = ChangesConf.of(options).isPresent();
    String view = isOfChanges ? null : options.get(ZRecordOptions.VIEW);
    if (several != null && parse(several).length > 0) {
      List<String> all = new ArrayList<>(List.of(parse(several)));
      if (one != null) {
        all.add(0, one);
      }
      if (all.size() == 1) {
        return identifier(all.get(0), view(view), options);
      }
      if (view != null) {
        throw new IllegalArgumentException("Cannot read the view " + view + " of " + all.size()
            + " datasets; load one path at a time");
      }
      if (isOfChanges) {
        throw new IllegalArgumentException(
            "Cannot tell the changes of " + all.size() + " datasets; load one path at a time");
      }
      return identifier(write(all), List.of(SEVERAL), options);
    }
    if (one == null || one.isBlank()) {
      throw new IllegalArgumentException(
          "No path is given; use load(\"/path\") or save(\"/path\")");
    }
    return identifier(one, view(view), options);
  }

  private static Identifier identifier(
      String name, List<String> namespace, CaseInsensitiveStringMap options) {
    List<String> parts = new ArrayList<>(namespace);
    Map<String, String> changes = ChangesConf.effective(options);
    if (!changes.isEmpty()) {
      parts.add(ChangesConf.isByDefault(options) ? DEFAULT_CHANGES : CHANGES);
      parts.add(write(changes));
    }
    if (options.containsKey(ZRecordOptions.GLOB_PATHS)) {
      parts.add(ReadConf.readsPatterns(options) ? PATTERN : LITERAL);
    }
    Map<String, String> settings = StorageSettings.ofStatement(options);
    if (!settings.isEmpty()) {
      parts.add(SETTINGS);
      parts.add(SettingsTokens.token(settings));
    }
    return Identifier.of(parts.toArray(String[]::new), name);
  }

  private static List<String> view(@Nullable String view) {
    return view == null
        ? List.of()
        : List.of(
            VIEW, OptionValue.parse(ZRecordOptions.VIEW, view, ViewName::of).toString());
  }

  /** Returns the view that an identifier asks for, if any. */
  public static Optional<ViewName> view(Identifier identifier) {
    return after(VIEW, identifier).map(ViewName::of);
  }

  /** Returns which changes an identifier of a read asks for, if any. */
  public static Optional<ChangesConf> changes(Identifier identifier) {
    return changesOfStatement(identifier)
        .or(() -> after(DEFAULT_CHANGES, identifier)
            .map(PathIdentifiers::options)
            .map(ChangesConf::parse));
  }

  /** Returns which changes the options of a statement ask for, if any. */
  public static Optional<ChangesConf> changesOfStatement(Identifier identifier) {
    return after(CHANGES, identifier).map(PathIdentifiers::options).map(ChangesConf::parse);
  }

  private static Map<String, String> options(String json) {
    try {
      return JSON.readValue(json, new TypeReference<Map<String, String>>() {});
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("Cannot read the options " + json, e);
    }
  }

  /** Returns the paths that an identifier names. */
  public static List<String> paths(Identifier identifier) {
    return has(SEVERAL, identifier)
        ? List.of(parse(identifier.name()))
        : List.of(identifier.name());
  }

  /**
   * Returns the settings of Hadoop for the paths of an identifier, without the session's.
   *
   * @throws IllegalArgumentException if another driver made the identifier
   */
  public static Map<String, String> settings(Identifier identifier) {
    return after(SETTINGS, identifier).map(SettingsTokens::settings).orElse(Map.of());
  }

  /**
   * Tells whether the paths of an identifier are no patterns. An identifier that says nothing, as
   * in SQL, has the default of the session.
   */
  static boolean isLiteral(Identifier identifier) {
    return has(LITERAL, identifier)
        || (!has(PATTERN, identifier) && !ReadConf.readsPatternsByDefault());
  }

  private static boolean has(String part, Identifier identifier) {
    return Arrays.asList(identifier.namespace()).contains(part);
  }

  private static Optional<String> after(String part, Identifier identifier) {
    List<String> parts = Arrays.asList(identifier.namespace());
    int at = parts.indexOf(part);
    return at < 0 || at + 1 >= parts.size() ? Optional.empty() : Optional.of(parts.get(at + 1));
  }

  /** Tells whether an identifier names one path, without a pattern, a view or changes. */
  public static boolean isPlain(Identifier identifier) {
    List<String> paths = paths(identifier);
    return paths.size() == 1
        && view(identifier).isEmpty()
        && !has(CHANGES, identifier)
        && (isLiteral(identifier) || !SparkStorages.isPattern(paths.get(0)));
  }

  /** Tells whether an identifier is a path, rather than the name of a table. */
  public static boolean isPath(Identifier identifier) {
    return identifier.namespace().length == 0 && identifier.name().indexOf('/') >= 0;
  }

  /** Tells whether a text that names a table is a path or URI. */
  public static boolean isPath(String text) {
    return text.indexOf('/') >= 0 && text.indexOf('`') < 0;
  }

  /**
   * Refuses a path among the options of a read or write of a table that the statement itself names.
   *
   * @param table the paths of the table
   * @throws IllegalArgumentException if the options name another dataset
   */
  static void refuseOthers(ReadPaths table, CaseInsensitiveStringMap options) {
    String several = options.get(ZRecordOptions.PATHS);
    String one = options.get(ZRecordOptions.PATH);
    List<String> asked = new ArrayList<>();
    if (one != null) {
      asked.add(one);
    }
    if (several != null) {
      asked.addAll(List.of(parse(several)));
    }
    if (!asked.isEmpty() && !asked.equals(table.named()) && !isSame(asked, table)) {
      throw new IllegalArgumentException("The option "
          + (several == null ? ZRecordOptions.PATH : ZRecordOptions.PATHS) + " names "
          + String.join(", ", asked) + ", but the statement names "
          + String.join(", ", table.named())
          + "; leave the option out, or use load(path) or save(path)");
    }
  }

  private static boolean isSame(List<String> asked, ReadPaths table) {
    return locations(asked, table.settings()).equals(locations(table.named(), table.settings()));
  }

  private static List<String> locations(List<String> paths, Map<String, String> settings) {
    return paths.stream().map(path -> SparkStorages.normalized(path, settings)).toList();
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

  private static String write(Object value) {
    try {
      return JSON.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("Cannot write " + value + " as JSON", e);
    }
  }
}
