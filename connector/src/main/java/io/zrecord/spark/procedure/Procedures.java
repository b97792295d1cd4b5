package io.zrecord.spark.procedure;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.ProcedureCatalog;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.procedures.UnboundProcedure;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The procedures of a catalog, in its namespace {@code system}, as Spark 4 finds them. The catalog
 * itself cannot be one of procedures: Spark 3.5 does not know the interface, and could not load the
 * class.
 */
public final class Procedures implements ProcedureCatalog {
  /** The namespace of all procedures. */
  public static final String NAMESPACE = "system";

  /** Whether Spark has what {@link DescribedProcedure} is, as it does from 4.2 on. */
  private static final boolean SHOWS_PARAMETERS = showsParameters();

  private final TableCatalog catalog;

  /** @param catalog the catalog whose tables the arguments name */
  public Procedures(TableCatalog catalog) {
    this.catalog = catalog;
  }

  @Override
  public void initialize(String name, CaseInsensitiveStringMap options) {}

  @Override
  public String name() {
    return catalog.name();
  }

  /**
   * Returns a procedure.
   *
   * @throws IllegalArgumentException if there is none of the name
   */
  @Override
  public UnboundProcedure loadProcedure(Identifier identifier) {
    return SystemProcedures.find(identifier.name())
        .filter(procedure -> isOurs(identifier.namespace()))
        .map(procedure -> found(new CalledProcedure(procedure, catalog)))
        .orElseThrow(() -> new IllegalArgumentException("The catalog " + name()
            + " has no procedure '" + identifier.name() + "'; there are "
            + SystemProcedures.ALL.stream()
                .map(procedure -> NAMESPACE + "." + procedure.name())
                .collect(Collectors.joining(", "))));
  }

  /** Returns a procedure in the form of which this Spark shows most. */
  private static UnboundProcedure found(CalledProcedure procedure) {
    return SHOWS_PARAMETERS ? new DescribedProcedure(procedure) : procedure;
  }

  private static boolean showsParameters() {
    try {
      Class.forName(
          UnboundProcedure.class.getPackageName() + ".SimpleProcedure",
          false,
          UnboundProcedure.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  @Override
  public Identifier[] listProcedures(String[] namespace) {
    return namespace.length == 0 || isOurs(namespace)
        ? SystemProcedures.ALL.stream()
            .map(procedure -> Identifier.of(new String[] {NAMESPACE}, procedure.name()))
            .toArray(Identifier[]::new)
        : new Identifier[0];
  }

  /** Tells whether a namespace is the one of the procedures. */
  static boolean isOurs(String[] namespace) {
    return Arrays.equals(namespace, new String[] {NAMESPACE}, String::compareToIgnoreCase);
  }
}
