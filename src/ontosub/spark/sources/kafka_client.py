"""Settings of Java's Kafka client, which Spark takes, in the words of librdkafka, which asks the brokers beforehand."""

from __future__ import annotations

import re
from collections.abc import Mapping

PREFIX = "kafka."

_SAME = ("security.protocol", "sasl.mechanism", "client.id")
_PEM = {
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.key.password": "ssl.key.password",
}
_LOGIN = re.compile(r'\b(username|password)\s*=\s*"((?:[^"\\]|\\.)*)"')
_SECURITY = ("security.", "sasl.", "ssl.")


def client_settings(bootstrap_servers: str, options: Mapping[str, str]) -> dict[str, str] | None:
    """Return settings for the same brokers and user; None where only Java knows how to log in.

    >>> client_settings("broker:9092", {"kafka.security.protocol": "SSL", "minPartitions": "8"})
    {'bootstrap.servers': 'broker:9092', 'security.protocol': 'SSL'}
    """
    found = {"bootstrap.servers": bootstrap_servers}
    for name, value in options.items():
        if not name.startswith(PREFIX):
            continue
        told = _told(name.removeprefix(PREFIX), value)
        if told is None:
            return None
        found |= told
    return found


def _told(name: str, value: str) -> dict[str, str] | None:
    if name in _SAME:
        return {name: value}
    if name in _PEM:
        return {_PEM[name]: value}
    if name in ("ssl.truststore.type", "ssl.keystore.type"):
        return {} if value == "PEM" else None
    if name == "ssl.endpoint.identification.algorithm":
        return {name: value or "none"}
    if name == "sasl.jaas.config":
        login = {f"sasl.{field}": re.sub(r"\\(.)", r"\1", text) for field, text in _LOGIN.findall(value)}
        return login if len(login) == 2 else None
    return None if name.startswith(_SECURITY) else {}
