# The operator's image: Node, the compiled code, and the packages that it needs. Which images it is made from and on is for
# whoever builds it to say, by digest: docs/install.md.
ARG BUILD_IMAGE
ARG BASE_IMAGE

FROM ${BUILD_IMAGE} AS build
# Where the base image has its Node.
ARG NODE=/nodejs/bin/node
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY LICENSE NOTICE tsconfig.json tsconfig.build.json ./
COPY tools ./tools
COPY src ./src
COPY dashboard ./dashboard
RUN node tools/image-tree.ts --node ${NODE} /image/keyturn

# No shell, no package manager: nothing can be run while this one is built.
FROM ${BASE_IMAGE}
COPY --from=build /image/keyturn /keyturn
# For `kubectl exec … -- keyturn status`.
ENV PATH=/keyturn/bin:/nodejs/bin:/usr/local/bin:/usr/bin:/bin
WORKDIR /keyturn
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/keyturn/bin/keyturn"]
CMD ["--help"]
