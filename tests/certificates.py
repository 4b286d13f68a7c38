"""Certificates for tests: an authority of one's own, and what it signs."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Certificates:
    """PEM files: the authority, a certificate for 127.0.0.1 and localhost, its key."""

    authority: Path
    certificate: Path
    key: Path


def make_certificates(folder: Path, *others: str) -> Certificates:
    """Make a certificate for this machine, and for other names."""
    folder.mkdir(parents=True, exist_ok=True)
    authority_key = ec.generate_private_key(ec.SECP256R1())
    issuer = _name("Naru tests")
    basic = x509.BasicConstraints(ca=True, path_length=0)
    authority = _signed(issuer, issuer, authority_key.public_key(), authority_key, basic)
    key = ec.generate_private_key(ec.SECP256R1())
    here = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
    names = x509.SubjectAlternativeName([*here, *map(x509.DNSName, others)])
    certificate = _signed(_name("localhost"), issuer, key.public_key(), authority_key, names)
    made = Certificates(folder / "authority.pem", folder / "certificate.pem", folder / "key.pem")
    pem = serialization.Encoding.PEM
    made.authority.write_bytes(authority.public_bytes(pem))
    made.certificate.write_bytes(certificate.public_bytes(pem))
    plain = serialization.NoEncryption()
    made.key.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    return made


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _signed(
    subject: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey,
    signer: ec.EllipticCurvePrivateKey,
    extension: x509.ExtensionType,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(issuer, subject, public, x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(hours=1))
    builder = builder.not_valid_after(now + datetime.timedelta(days=1))
    return builder.add_extension(extension, critical=True).sign(signer, hashes.SHA256())
