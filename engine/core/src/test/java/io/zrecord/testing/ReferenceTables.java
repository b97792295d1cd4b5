package io.zrecord.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the tables of the pages below {@code docs/reference}, so that tests can compare them with
 * the code.
 */
public final class ReferenceTables {
  private static final Path PAGES = Repository.path("docs/reference");
  private static final Pattern CODE = Pattern.compile("`([^`]*)`");
  private static final Pattern CELLS = Pattern.compile("\\s*\\|\\s*");

  private final String page;
  private final List<String> headings;
  private final List<Row> rows;

  /**
   * A row of a table.
   *
   * @param heading the text of the heading above the table
   * @param cells what the row has between its bars, as it is in the page
   */
  public record Row(String heading, List<String> cells) {
    /**
     * Returns the code in the first cell: {@code --field} and {@code -f} of {@code | `--field`,
     * `-f` | |}.
     */
    public List<String> names() {
      return codeIn(cells.get(0));
    }

    /** Returns the first name. */
    public String name() {
      return names().get(0);
    }

    /** Returns the code in a cell, counted from 0. */
    public List<String> code(int cell) {
      return codeIn(cells.get(cell));
    }

    /** Returns a cell without the marks of code, counted from 0. */
    public String text(int cell) {
      return cells.get(cell).replace("`", "");
    }
  }

  private ReferenceTables(String page, List<String> lines) {
    this.page = page;
    this.headings = lines.stream()
        .filter(line -> line.startsWith("## "))
        .map(line -> line.substring("## ".length()))
        .toList();
    this.rows = rowsOf(lines);
  }

  /** Reads a page by its name without extension. */
  public static ReferenceTables of(String page) {
    try {
      return new ReferenceTables(page, Files.readAllLines(PAGES.resolve(page + ".md")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the headings of the second level. */
  public List<String> headings() {
    return headings;
  }

  /** Returns the rows of the tables below a heading; empty if there is no table. */
  public List<Row> rows(String heading) {
    return rows.stream().filter(row -> row.heading().equals(heading)).toList();
  }

  /** Returns the only row with a name. */
  public Row row(String name) {
    List<Row> found = rows.stream().filter(row -> row.names().contains(name)).toList();
    if (found.size() != 1) {
      throw new IllegalArgumentException(
          "Page " + page + " has " + found.size() + " rows for " + name + "; it needs one");
    }
    return found.get(0);
  }

  private static List<Row> rowsOf(List<String> lines) {
    List<Row> rows = new ArrayList<>();
    String heading = "";
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      if (line.startsWith("#")) {
        heading = line.replaceFirst("#+ ", "");
      }
      boolean isHeader = i + 1 < lines.size() && lines.get(i + 1).startsWith("|---");
      if (line.startsWith("|") && !line.startsWith("|---") && !isHeader) {
        String inner = line.strip().replaceAll("^\\|\\s*|\\s*\\|$", "");
        rows.add(new Row(heading, List.of(CELLS.split(inner, -1))));
      }
    }
    return List.copyOf(rows);
  }

  private static List<String> codeIn(String cell) {
    Matcher matcher = CODE.matcher(cell);
    List<String> found = new ArrayList<>();
    while (matcher.find()) {
      found.add(matcher.group(1));
    }
    return found;
  }
}
