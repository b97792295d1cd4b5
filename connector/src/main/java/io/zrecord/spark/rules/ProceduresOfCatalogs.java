package io.zrecord.spark.rules;

import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.procedure.Procedures;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import scala.PartialFunction;

/**
 * Finds the procedures that {@code CALL} names in a catalog of zrecord, before Spark looks for
 * them: the catalogs cannot have Spark's interface for procedures, which Spark 3.5 lacks.
 * Thread-safe.
 */
public final class ProceduresOfCatalogs extends Rule<LogicalPlan> {
  private static final String CATALOGS = "io.zrecord.spark.";
  private static final String ANALYSIS = "org.apache.spark.sql.catalyst.analysis.";

  private final SparkSession session;

  /** Creates the rule of a session. */
  public ProceduresOfCatalogs(SparkSession session) {
    this.session = session;
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return Transforms.ofAnalyzed(() -> plan.transformUp(new Names()));
  }

  private final class Names implements PartialFunction<LogicalPlan, LogicalPlan> {
    @Override
    public boolean isDefinedAt(LogicalPlan node) {
      return node.getClass().getName().equals(ANALYSIS + "UnresolvedProcedure")
          && found(node).isPresent();
    }

    @Override
    public LogicalPlan apply(LogicalPlan node) {
      return found(node).orElseThrow();
    }
  }

  /** Returns the procedure; empty if the catalog is another's. */
  private Optional<LogicalPlan> found(LogicalPlan node) {
    List<String> parts = ScalaLists.copy(PlanNodes.called(node, "nameParts"), String.class);
    int last = parts.size() - 1;
    if (last < 1 || last > 2 || !parts.get(last - 1).equalsIgnoreCase(Procedures.NAMESPACE)) {
      return Optional.empty();
    }
    Object manager = called(session.sessionState(), "catalogManager");
    Object catalog = last == 1
        ? called(manager, "currentCatalog")
        : isRegistered(parts.get(0)) ? called(manager, "catalog", parts.get(0)) : null;
    return catalog instanceof TableCatalog tables && isOurs(tables)
        ? Optional.of(SparkErrors.planned(() -> resolved(tables, parts.get(last))))
        : Optional.empty();
  }

  /** Tells whether a catalog is one of zrecord. */
  static boolean isOurs(TableCatalog catalog) {
    return catalog.getClass().getName().startsWith(CATALOGS);
  }

  private boolean isRegistered(String catalog) {
    return session.conf().get("spark.sql.catalog." + catalog, "").startsWith(CATALOGS);
  }

  private static LogicalPlan resolved(TableCatalog catalog, String name) {
    Identifier identifier = Identifier.of(new String[] {Procedures.NAMESPACE}, name);
    Procedures procedures = new Procedures(catalog);
    Object found = procedures.loadProcedure(identifier);
    try {
      return (LogicalPlan) Class.forName(ANALYSIS + "ResolvedProcedure", true, loader())
          .getConstructors()[0]
          .newInstance(procedures, identifier, found);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("This release of Spark has other plans", e);
    }
  }

  private static ClassLoader loader() {
    return LogicalPlan.class.getClassLoader();
  }

  /** Calls a method of a class that is an interface in some releases. */
  private static Object called(Object object, String method, Object... arguments) {
    Class<?>[] types = Arrays.stream(arguments).map(Object::getClass).toArray(Class<?>[]::new);
    try {
      return object.getClass().getMethod(method, types).invoke(object, arguments);
    } catch (InvocationTargetException e) {
      return SparkErrors.planned(() -> {
        throw e.getCause() instanceof RuntimeException cause
            ? cause
            : new IllegalStateException(e.getCause());
      });
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("This release of Spark has no " + method, e);
    }
  }
}
