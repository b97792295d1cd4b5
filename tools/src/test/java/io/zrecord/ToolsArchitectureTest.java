package io.zrecord;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass.Predicates;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** The packages of the tools, which way they may look, and what they may use of the engine. */
class ToolsArchitectureTest {
  private static final JavaClasses TOOLS = new ClassFileImporter()
      .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
      .withImportOption(location -> location.contains("/tools/"))
      .importPackages("io.zrecord");

  @Test
  void packagesHaveNoCycles() {
    slices().matching("io.(**)").should().beFreeOfCycles().check(TOOLS);
  }

  @Test
  void onlyThePublicEngineIsUsed() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.zrecord.internal..")
        .check(TOOLS);
  }

  @Test
  void onlyOnePackageKnowsArrow() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.zrecord.arrow")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.arrow..", "com.google.flatbuffers..")
        .check(TOOLS);
  }

  @Test
  void theCommandLineIsAboveEverythingElse() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.zrecord.cli..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.zrecord.cli..", "picocli..", "me.tongfei..")
        .check(TOOLS);
  }

  /** The jar of the data source contains these two packages and nothing else of the tools. */
  @Test
  void whatTheConnectorTakesNeedsNoOtherTools() {
    noClasses()
        .that()
        .resideInAnyPackage("io.zrecord.cli.console", "io.zrecord.cli.maintenance")
        .should()
        .dependOnClassesThat(Predicates.resideInAnyPackage(
            "io.zrecord.cli",
            "io.zrecord.arrow",
            "io.zrecord.npy",
            "io.zrecord.report",
            "io.zrecord.serving",
            "io.zrecord.sharing",
            "io.zrecord.text"))
        .check(TOOLS);
  }
}
