package io.zrecord.spark;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.zrecord.Spi;
import org.junit.jupiter.api.Test;

/** What the connector may use, so that one jar runs on every Spark. */
class ArchitectureTest {
  private static final JavaClasses CONNECTOR = new ClassFileImporter()
      .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
      .importPackages("io.zrecord.spark");

  @Test
  void packagesHaveNoCycles() {
    slices().matching("io.zrecord.spark.(**)").should().beFreeOfCycles().check(CONNECTOR);
  }

  @Test
  void onlyThePublicEngineIsUsed() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.zrecord.internal..")
        .check(CONNECTOR);
  }

  /**
   * What the engine lets a cluster implement is marked; all else may change without the connector.
   */
  @Test
  void onlyWhatIsMarkedForClustersIsImplemented() {
    noClasses()
        .should()
        .beAssignableTo(describe(
            "an interface of the engine that is not marked",
            (JavaClass type) -> type.isInterface()
                && type.getPackageName().startsWith("io.zrecord.")
                && !type.getPackageName().startsWith("io.zrecord.spark")
                && !type.isAnnotatedWith(Spi.class)))
        .check(CONNECTOR);
  }

  /** Collections of Scala differ between 2.12 and 2.13; what is allowed is the same in both. */
  @Test
  void noScalaCollectionIsTouched() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .haveNameMatching(
            "scala\\.(?!runtime\\.BoxedUnit|Option|Function1|PartialFunction|Product|Serializable"
                + "|Tuple2$|collection\\.Iterable$|collection\\.Iterator$"
                + "|collection\\.immutable\\.Map(\\$Map[13])?$).*")
        .check(CONNECTOR);
  }
}
