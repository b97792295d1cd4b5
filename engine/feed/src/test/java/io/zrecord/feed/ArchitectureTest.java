package io.zrecord.feed;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import io.zrecord.testing.ArchitectureRules;
import org.junit.jupiter.api.Test;

/** The packages of the module, and which way they may look. */
class ArchitectureTest {
  private static final ArchitectureRules RULES = new ArchitectureRules();

  @Test
  void packagesHaveNoCycles() {
    RULES.packagesHaveNoCycles();
  }

  @Test
  void noPackageIsSplit() {
    RULES.noPackageIsSplit();
  }

  @Test
  void samplersStandAlone() {
    classes()
        .that()
        .resideInAPackage("io.zrecord.sampler")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "io.zrecord.sampler", "io.zrecord.internal.random", "java..", "org.jspecify..")
        .check(RULES.classes());
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
  void noPublicSignatureShowsAnInternalType() {
    RULES.noPublicSignatureShowsAnInternalType();
  }
}
