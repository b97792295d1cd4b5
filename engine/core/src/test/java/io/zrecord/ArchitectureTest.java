package io.zrecord;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import io.zrecord.testing.ArchitectureRules;
import org.junit.jupiter.api.Test;

/** The packages of the engine's core, and which way they may look. */
class ArchitectureTest {
  private static final ArchitectureRules RULES = new ArchitectureRules();
  private static final JavaClasses CORE = RULES.classes();

  @Test
  void packagesHaveNoCycles() {
    RULES.packagesHaveNoCycles();
  }

  @Test
  void schemasErrorsFindingsAndRandomNumbersStandAlone() {
    standsAlone("io.zrecord.schema", "io.zrecord.errors");
    standsAlone("io.zrecord.errors");
    standsAlone("io.zrecord.findings", "com.fasterxml.jackson..");
    standsAlone("io.zrecord.internal.random");
  }

  private static void standsAlone(String name, String... allowed) {
    classes()
        .that()
        .resideInAPackage(name)
        .should()
        .onlyDependOnClassesThat(
            JavaClass.Predicates.resideInAnyPackage(name, "java..", "org.jspecify..")
                .or(JavaClass.Predicates.resideInAnyPackage(allowed)))
        .check(CORE);
  }

  @Test
  void theFormatDoesNoInputAndOutput() {
    noClasses()
        .that()
        .resideInAnyPackage("io.zrecord.internal.format", "io.zrecord.internal.codec")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "java.nio.channels", "java.nio.file..", "io.zrecord.internal.io", "io.zrecord.storage")
        .check(CORE);
  }

  @Test
  void codecsKnowNoFormat() {
    noClasses()
        .that()
        .resideInAPackage("io.zrecord.internal.codec")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.zrecord.internal.format")
        .check(CORE);
  }

  @Test
  void checksDoNotUseReaders() {
    noClasses()
        .that()
        .resideInAPackage("io.zrecord.internal.verify")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.zrecord", "io.zrecord.internal.shard.read")
        .check(CORE);
  }

  @Test
  void onlyOnePackageTouchesChannelsAndMaps() {
    RULES.onlyOnePackageTouchesChannelsAndMaps();
  }

  @Test
  void theEngineKnowsNoSpark() {
    RULES.theEngineKnowsNoSpark();
  }

  @Test
  void whatOthersNeedIsMarkedAndPublic() {
    classes()
        .that()
        .areAnnotatedWith(Spi.class)
        .should()
        .bePublic()
        .andShould()
        .resideOutsideOfPackage("io.zrecord.internal..")
        .check(CORE);
  }

  @Test
  void noPublicSignatureShowsAnInternalType() {
    RULES.noPublicSignatureShowsAnInternalType();
  }
}
