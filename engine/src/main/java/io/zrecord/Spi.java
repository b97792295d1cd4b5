package io.zrecord;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a type that is made for an engine on a cluster, which implements it or runs it in its
 * tasks, and not for programs that read and write datasets. Such a type may change with each
 * release.
 */
@Documented
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.CLASS)
public @interface Spi {}
