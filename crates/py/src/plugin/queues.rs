//! Queue disciplines written in Python: converts packets for them and checks their decisions.

use airtcp_kernel::Time;
use airtcp_net::plugin::{self, Discipline, Fate, Seen};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::Called;

/// A packet that waits or arrives.
#[pyclass(name = "Packet", frozen, get_all)]
struct PyPacket {
    /// The number of the packet in its queue, from 0 in order of arrival.
    id: u64,
    /// The number of its flow.
    flow: u32,
    /// The number of the node that receives it over the air.
    receiver: u32,
    /// Its size in bytes, including the IP header and everything above it.
    size: u64,
    /// When it arrived, in nanoseconds of simulated time.
    arrived_ns: u64,
    /// Whether it is a bare TCP ACK.
    is_ack: bool,
}

impl From<Seen> for PyPacket {
    fn from(Seen { id, flow, to: receiver, bits, arrived, is_ack }: Seen) -> Self {
        Self { id, flow, receiver, size: bits / 8, arrived_ns: arrived.as_nanos(), is_ack }
    }
}

#[pymethods]
impl PyPacket {
    fn __repr__(&self) -> String {
        let Self { id, flow, receiver, size, .. } = self;
        format!("<packet {id} of flow {flow} to {receiver}, {size} B>")
    }
}

/// Returns the packet number that a method has returned, or `None`.
fn packet(method: &str, answer: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    if answer.is_none() {
        return Ok(None);
    }
    let packet = answer.cast::<PyPacket>().map_err(|_| {
        PyTypeError::new_err(format!("{method} = {answer}: allowed: a packet, or None"))
    })?;
    Ok(Some(packet.get().id))
}

impl Discipline for Called {
    fn arrives(&mut self, now: Time, seen: Seen, is_full: bool) -> Option<u64> {
        let otherwise = is_full.then_some(seen.id);
        self.called(otherwise, |called, py| {
            let arguments = (PyPacket::from(seen), now.as_nanos(), is_full);
            packet("on_arrival", &called.method(py, "on_arrival", arguments)?)
        })
    }

    fn next(&mut self, receiver: Option<u32>) -> Option<u64> {
        self.called(None, |called, py| packet("next", &called.method(py, "next", (receiver,))?))
    }

    fn leaves(&mut self, now: Time, seen: Seen) -> Fate {
        self.called(Fate::Sent, |called, py| {
            let answer =
                called.method(py, "on_departure", (PyPacket::from(seen), now.as_nanos()))?;
            if answer.is_none() {
                return Ok(Fate::Sent);
            }
            match answer.extract::<String>().as_deref() {
                Ok("mark") => Ok(Fate::Marked),
                Ok("drop") => Ok(Fate::Dropped),
                _ => Err(PyTypeError::new_err(format!(
                    "on_departure = {answer}: allowed: None, \"mark\" or \"drop\""
                ))),
            }
        })
    }

    fn is_filtered(&mut self, seen: Seen) {
        self.called((), |called, py| {
            called.method(py, "on_filtered", (PyPacket::from(seen),)).map(drop)
        });
    }

    fn breaks(&mut self, law: String) {
        self.break_law(law);
    }
}

/// Registers a class of queue disciplines under a name, for scenarios read from now on.
#[pyfunction]
fn register_discipline(name: &str, class: Py<PyAny>) {
    let made = Called::maker(name, class);
    plugin::register_discipline(name, move || Box::new(made()));
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPacket>()?;
    module.add_function(wrap_pyfunction!(register_discipline, module)?)
}
