# make image
#   BASE=python@sha256:…             the base by its digest: the same today and in a year
#   LOCK=requirements-tracing.lock   with OpenTelemetry
#   LOCK=requirements-all.lock       with every extra, such as the drivers of users.source, but for LDAP
#   LOCK=requirements-ldap.lock      with LDAP, too, whose library is compiled, and needs the system's OpenLDAP
ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS build
ARG LOCK=requirements.lock
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /app
COPY requirements.lock requirements-tracing.lock requirements-all.lock requirements-ldap.lock ./
RUN if [ ${LOCK} = requirements-ldap.lock ]; then apt-get -qq update && \
    apt-get -qq install -y --no-install-recommends gcc libc6-dev libldap-dev libsasl2-dev >/dev/null; fi
# The first one holds what compiles the package that has no wheel.
RUN python -m venv --without-pip .venv && set -- requirements.lock ${LOCK} && \
    if [ $1 = $2 ]; then shift; fi && for lock; do \
    python -m pip --python .venv/bin/python install --no-compile --only-binary :all: --no-binary python-ldap \
    --no-build-isolation --require-hashes -r $lock || exit 1; done
COPY pyproject.toml LICENSE ./
COPY scripts/build_hook.py scripts/build_hook.py
COPY service service
COPY templates templates
# Compiled here, because nothing can be written later; and never held against its source, which cannot change either.
RUN python -m pip --python .venv/bin/python install --no-compile --no-deps --no-build-isolation --editable . && \
    python -m pip --python .venv/bin/python uninstall --yes hatchling packaging pathspec pluggy setuptools tomlkit trove-classifiers && \
    .venv/bin/python -m compileall -q -f -j 0 --invalidation-mode unchecked-hash service .venv/lib

FROM ${BASE}
ARG LOCK=requirements.lock
RUN python -m pip uninstall --yes pip setuptools wheel
RUN if [ ${LOCK} = requirements-ldap.lock ]; then apt-get -qq update && \
    apt-get -qq install -y --no-install-recommends libldap-2.5-0 libldap-common libsasl2-2 >/dev/null && \
    rm -rf /var/lib/apt/lists/*; fi
WORKDIR /app
COPY --from=build /app /app
ENV PATH=/app/.venv/bin:/usr/local/bin:/usr/bin:/bin
ARG COMMIT=unknown
RUN echo ${COMMIT} > service/commit
LABEL org.opencontainers.image.title="token-service" \
    org.opencontainers.image.revision=${COMMIT} \
    org.opencontainers.image.licenses="Apache-2.0"
USER 10001:10001
EXPOSE 8080 9090
ENTRYPOINT ["token-service"]
CMD ["serve", "--host", "::"]
