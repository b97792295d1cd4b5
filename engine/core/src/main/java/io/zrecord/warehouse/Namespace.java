package io.zrecord.warehouse;

import java.util.ArrayList;
import java.util.List;

/**
 * The name of a namespace: the names of the directories that lead to it from the warehouse. Names
 * differ by case. Immutable.
 *
 * @param levels the outermost first; empty for the warehouse itself
 */
public record Namespace(List<String> levels) {
  /** Most directories that lead to a namespace. */
  public static final int MOST_LEVELS = 16;

  /** The warehouse itself, which always exists. */
  public static final Namespace ROOT = new Namespace(List.of());

  /**
   * Checks the names.
   *
   * @throws IllegalArgumentException if a name is not allowed, or there are too many
   */
  public Namespace {
    levels = List.copyOf(levels);
    levels.forEach(EntryName::require);
    if (levels.size() > MOST_LEVELS) {
      throw new IllegalArgumentException("Cannot use the namespace " + String.join(".", levels)
          + ": it has " + levels.size() + " levels, and at most " + MOST_LEVELS
          + " are allowed; use fewer");
    }
  }

  /** Returns a namespace in a namespace. */
  public static Namespace of(String... levels) {
    return new Namespace(List.of(levels));
  }

  /** Returns the namespace of a name in this namespace. */
  public Namespace child(String name) {
    List<String> child = new ArrayList<>(levels);
    child.add(name);
    return new Namespace(child);
  }

  /**
   * Returns the directory of a table in this namespace, relative to the warehouse. The name of a
   * table is no level.
   *
   * @throws IllegalArgumentException if the name is not allowed
   */
  public String pathOfTable(String name) {
    return pathOf(EntryName.require(name));
  }

  /** Tells whether this is the warehouse itself. */
  public boolean isRoot() {
    return levels.isEmpty();
  }

  /** Returns the directory, relative to the warehouse; empty for the warehouse itself. */
  String directory() {
    return String.join("/", levels);
  }

  /** Returns the directory or file of a name in this namespace, relative to the warehouse. */
  String pathOf(String name) {
    return isRoot() ? name : directory() + "/" + name;
  }

  /** Returns the names with dots between them. */
  @Override
  public String toString() {
    return String.join(".", levels);
  }
}
