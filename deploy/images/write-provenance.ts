/** The data about how an image was built. */
export type BuildInfo = {
  service: string;
  /** The image's name, and its digest as reported by the builder or the registry. */
  image: string;
  digest: string;
  /** The commit from which the image was built. */
  commit: string;
  /** The base image, with its digest if the Dockerfile pins it. */
  baseImage: string;
  /** The SHA-256 of the lockfile, which pins every package. */
  lockDigest: string;
  sbomDigest: string;
  /** A URI that identifies the builder. */
  builder: string;
  startedAt: Date;
  finishedAt: Date;
};

const withoutAlgorithm = (digest: string): string => digest.replace(/^sha256:/, "");

/** Renders an in-toto statement with SLSA v1 provenance. */
export const renderProvenance = (build: BuildInfo): string => {
  const [baseName = "", baseDigest] = build.baseImage.split("@");
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: build.image, digest: { sha256: withoutAlgorithm(build.digest) } }],
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:payment-links:image-build:1",
        externalParameters: { service: build.service, dockerfile: "deploy/Dockerfile" },
        resolvedDependencies: [
          { name: "source", digest: { gitCommit: build.commit } },
          { name: "package-lock.json", digest: { sha256: build.lockDigest } },
          {
            name: baseName,
            uri: `pkg:docker/${baseName.replace(":", "@")}`,
            ...(baseDigest === undefined
              ? {}
              : { digest: { sha256: withoutAlgorithm(baseDigest) } }),
          },
        ],
      },
      runDetails: {
        builder: { id: build.builder },
        metadata: {
          startedOn: build.startedAt.toISOString(),
          finishedOn: build.finishedAt.toISOString(),
        },
        byproducts: [{ name: `${build.service}.cdx.json`, digest: { sha256: build.sbomDigest } }],
      },
    },
  };
  return `${JSON.stringify(statement, undefined, 2)}\n`;
};
