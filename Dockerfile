# Naru without a model of its own: it talks to endpoints (Ollama, vLLM, OpenAI, …). See docs/how-to/deploy.md.
FROM python:3.13-slim AS build
WORKDIR /build
RUN python -m venv /opt/naru
COPY requirements-image.lock ./
RUN /opt/naru/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements-image.lock
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
# hatchling is in the lock, so that nothing is fetched here that the lock does not name.
RUN /opt/naru/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation .

FROM python:3.13-slim
RUN groupadd --gid 10001 naru \
    && useradd --uid 10001 --gid naru --home-dir /data --no-create-home --shell /usr/sbin/nologin naru \
    && install --directory --owner naru --group naru --mode 0700 /data
COPY --from=build /opt/naru /opt/naru
ENV PATH=/opt/naru/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    NARU_HUB__DATA_DIR=/data \
    NARU_SERVER__HOST=0.0.0.0 \
    NARU_LOG_FORMAT=json
USER naru
WORKDIR /data
VOLUME /data
EXPOSE 20006
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:20006/healthz', timeout=2)"]
ENTRYPOINT ["naru"]
CMD ["serve"]
