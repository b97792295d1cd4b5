package io.zrecord.spark;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** What the connector may use, so that one jar runs on every Spark. */
class ArchitectureTest {
  private static final JavaClasses CONNECTOR = new ClassFileImporter()
      .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
      .importPackages("io.zrecord.spark");

  @Test
  void onlyThePublicEngineIsUsed() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.zrecord.internal..")
        .check(CONNECTOR);
  }

  /** Collections of Scala differ between 2.12 and 2.13; what is allowed is the same in both. */
  @Test
  void noScalaCollectionIsTouched() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .haveNameMatching(
            "scala\\.(?!runtime\\.BoxedUnit|Option|Function1|PartialFunction|Product|Serializable).*")
        .check(CONNECTOR);
  }
}
