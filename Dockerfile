FROM python:3.11-slim AS build
WORKDIR /app
COPY requirements.lock .
RUN python -m venv .venv && .venv/bin/pip install --no-cache-dir --require-hashes -r requirements.lock

FROM python:3.11-slim
WORKDIR /app
COPY --from=build /app/.venv .venv
COPY service service
COPY templates templates
RUN .venv/bin/python -m compileall -q service
USER 10001
EXPOSE 8080
ENTRYPOINT [".venv/bin/python", "-m", "service"]
CMD ["serve", "--host", "0.0.0.0"]
