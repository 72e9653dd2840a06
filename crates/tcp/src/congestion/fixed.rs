//! No congestion control: the window stays what it was at the start, whatever is lost. What a sender
//! may have in flight is the initial window, or what the receiver advertises if that is less.

use super::{Controller, Delivery, Moment, Window};

/// A window that does not change. The recovery from a loss needs a threshold, which is the window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fixed;

impl Controller for Fixed {
    fn on_ack(&mut self, _window: &mut Window, _moment: &Moment<'_>, _delivery: Delivery) {}

    fn on_loss(&mut self, window: &mut Window, _moment: &Moment<'_>, _flight_size: u64) {
        window.ssthresh = window.cwnd;
    }

    fn on_timeout(&mut self, window: &mut Window, _moment: &Moment<'_>, _flight_size: Option<u64>) {
        window.ssthresh = window.cwnd;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::congestion::scene::Scene;

    #[test]
    fn neither_acknowledgments_nor_losses_move_the_window() {
        let mut scene = Scene::new(Config::standard(), Fixed, 8000, u64::MAX);

        assert_eq!(scene.ack(1000), 8000);
        assert_eq!(scene.loss(8000), 8000);
        assert_eq!(scene.timeout(Some(8000)), 8000);
        assert_eq!(scene.window.cwnd, 8000);
    }
}
