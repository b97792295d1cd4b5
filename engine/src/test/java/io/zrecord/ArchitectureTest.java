package io.zrecord;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** The packages of the engine and which way they may look. */
class ArchitectureTest {
  private static final JavaClasses ENGINE = new ClassFileImporter()
      .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
      .importPackages("io.zrecord");

  @Test
  void packagesHaveNoCycles() {
    slices().matching("io.(**)").should().beFreeOfCycles().check(ENGINE);
  }

  @Test
  void schemasAndErrorsStandAlone() {
    classes()
        .that()
        .resideInAnyPackage("io.zrecord.schema", "io.zrecord.errors")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("io.zrecord.schema", "io.zrecord.errors", "java..", "org.jspecify..")
        .check(ENGINE);
  }

  @Test
  void samplersStandAlone() {
    classes()
        .that()
        .resideInAPackage("io.zrecord.sampler")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("io.zrecord.sampler", "java..", "org.jspecify..")
        .check(ENGINE);
  }

  @Test
  void theFormatDoesNoInputAndOutput() {
    noClasses()
        .that()
        .resideInAPackage("io.zrecord.internal.format")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "java.nio.channels", "java.nio.file..", "io.zrecord.internal.io", "io.zrecord.storage")
        .check(ENGINE);
  }

  @Test
  void onlyOnePackageTouchesChannelsAndMaps() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.zrecord.internal.io")
        .should()
        .dependOnClassesThat()
        // What somebody else opened may be written to.
        .haveNameMatching("java\\.nio\\.(channels\\.(?!GatheringByteChannel$).*|MappedByteBuffer)")
        .check(ENGINE);
  }

  @Test
  void theEngineKnowsNoSpark() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.spark..", "org.apache.hadoop..", "scala..")
        .check(ENGINE);
  }

  @Test
  void onlyOnePackageKnowsArrow() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.zrecord.arrow")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.arrow..", "com.google.flatbuffers..")
        .check(ENGINE);
  }

  @Test
  void theCommandLineStandsAbove() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.zrecord.cli")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.zrecord.cli", "picocli..", "me.tongfei..")
        .check(ENGINE);
  }
}
